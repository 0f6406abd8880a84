// Package podcache makes pods small before informers cache them: it drops what neither plugins nor controllers of the descheduler read,
// and lets the pods of one workload share what is equal in all of them. A cluster of 150,000 pods has some thousand workloads.
//
// Pods of such a cache must not be modified, which holds for every cache of an informer, and must not be sent to the API server as whole
// objects: patches are computed from them, and what has to be complete is read live.
package podcache
