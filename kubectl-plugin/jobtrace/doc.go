// Package jobtrace reads records of jobs that ended, as CSV and in the Standard Workload Format (SWF) of the Parallel Workloads Archive,
// and generates one.
package jobtrace
