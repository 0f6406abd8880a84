// Package kueueview says whether Kueue holds back a pod or a Job, and what it waits for. Kueue decides; its decision is in the Workload
// that it makes of them.
package kueueview
