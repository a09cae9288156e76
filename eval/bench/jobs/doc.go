// Package jobs contains the code that a user writes for common jobs, with Bloomery and with three other libraries, one
// function a job, in one file a library. Its test runs them, counts their lines and holds the table in
// docs/measured/jobs.md.
package jobs
