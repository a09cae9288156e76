// Package jobs contains the code that a user writes for common jobs, with Bloomery and with three other libraries: one
// function per job, one file per library. The test runs the functions, counts their lines and checks the table in
// docs/measured/jobs.md.
package jobs
