// Package simulation runs the whole koord-scheduler against a simulated API server, in simulated time, with everything that
// can go wrong decided by a seed, and checks the invariants of test/invariants at every event.
//
// The scheduler is the real one, as scheduler/app assembles it, with the built-in profile: queue, cache, informers, binding
// goroutines, controllers. It runs in a bubble of testing/synctest, where time passes only when all goroutines are blocked,
// so that a test can wait until the scheduler is idle, and an hour costs nothing. Driving the plugins from one goroutine
// instead would have left out the informers and the asynchronous binding, which is where schedulers are wrong.
//
// The API server is a store behind an http.RoundTripper. Reads are answered at once. Writes and the events of watches wait,
// and a scheduling cycle waits in NextPod, until a step of the seed lets one of them go on; then the simulation waits until
// the bubble is idle again. Calls that arrived together are sorted. Thus what happens is decided by the
// seed, and not by the order in which goroutines run. A write can come out as done, refused, lost, or done without that the
// scheduler learns of it; watches break, with or without the history that lets them be taken up again; schedulers are killed.
//
// Users spoil annotations: wishes at any time, also those of pods that have a place, and decisions while no scheduler is running.
// Neither may make a scheduler forget what a pod holds, or believe what no scheduler decided.
//
// Every process simulates one seed at a time on one processor, because libraries draw from the global random numbers, which
// are seeded again by every step. The test runs a child of itself for each processor.
//
// At the end of a seed all faults end. When nothing gets a place any more, and no pod keeps one while it waits for the rest of
// its gang, what the scheduler wrote of quotas is held against the pods, and what it knows against the API server and against
// what a scheduler knows that has just been started (I14, I15).
//
//	go test ./test/simulation                          # 1,000 seeds
//	go test ./test/simulation -seeds 100000            # a night's worth; -from begins at another seed, -steps makes them longer
//	go test ./test/simulation -run Invariants -seed 42 -v   # replay one, with its steps
//	go test ./test/simulation -run Invariants -seed 42 -v -minimise   # and leave out steps that it fails without
package simulation
