// Package migrations runs the arbitrator of koord-descheduler, as it is, against a simulated API server, with everything that can go wrong
// decided by a seed: two deschedulers at once, each with a cache that lags, killed between any two of their requests, conflicts, requests
// that fail or are done without that the sender learns of it, evictions that are refused, nodes that vanish, users that pause and delete
// jobs. In half of the seeds migration.Decide takes the jobs on, in the others a model that evicts without a home and fails at any time.
// After every step the limits are held against all jobs and pods; at the end, every job has to end and release what it reserved.
//
//	go test ./test/simulation/migrations                          # 1,000 seeds
//	go test ./test/simulation/migrations -seeds 100000
//	go test ./test/simulation/migrations -seed 42 -v              # replay one, with its steps
package migrations
