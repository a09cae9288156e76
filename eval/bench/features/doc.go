// Package features contains the test of docs/measured/features.md, which compares Bloomery with other filter libraries
// for Go. Every cell of the table is measured, or derived from the code of the other library:
//
//   - cells about encodings and allocations are measured in each library (measured_test.go);
//   - every other "yes" or "partial" is proved by a function that uses the feature (proofs_test.go, ours_test.go);
//   - a "no" holds if no exported name of the filter's package looks like the feature (api_test.go).
//
// Names in the table must be names of the library's API, so the table always describes the versions that go.mod pins.
package features
