// Package enginerun makes runs of jobs of what engines tell of their own applications and queries.
//
// Each engine has a function that reads its answer into events, and nothing else: YARN, Spark's
// history server, and Trino and Presto. Decide makes the run of an event, and says what
// is left out of it and why. Names that are different for every run, as by a date, become the same.
package enginerun
