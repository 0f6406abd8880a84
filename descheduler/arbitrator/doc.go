// Package arbitrator lets PodMigrationJobs start: it gathers what decision/descheduling/arbitration asks for, and applies the answer.
//
// A job may start when it has the annotation descheduler.koordinator.sh/passed-arbitration. The same write records node and workload of
// its pod, by which limits count the job when the pod is gone. It has the resource version of the job as a precondition.
//
// That alone would not hold limits while two deschedulers run, because they could admit different jobs at the same time; nor with a cache
// that does not show yet what was admitted. So admissions are serialized by a ConfigMap, the ledger:
//
//  1. read the ledger past the cache, and then all jobs: past the cache, too, unless no other descheduler wrote the ledger since the
//     cache was seen to show all that was admitted;
//  2. count the jobs of the ledger that have not got their annotation yet as running, and decide;
//  3. write the jobs that are admitted to the ledger, if there are any, unless it was written since 1; if so, start again;
//  4. annotate all jobs of the ledger.
//
// The next leader finds what is left of 4 in the ledger and completes it. Entries are dropped when their job runs, ended or is gone.
// Only admissions take these steps; rounds that admit nothing read from the cache alone.
//
// All jobs are listed past the cache once by a new leader, and again only after a write of the ledger whose answer was lost, or by another
// descheduler. In between, what was admitted is in the ledger until the cache shows it: each entry stays until then, and a cache never goes
// back to an earlier state of an object. Whatever else a cache does not show yet makes jobs wait longer: that a job ended, evicted its pod
// or got a node for the pod that replaces it. Jobs that users let start themselves count from when the cache shows them.
package arbitrator
