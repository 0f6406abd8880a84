// Package cpulimit decides how far the CPU limits of a running pod can be lowered in place to relieve its node, how what is taken is shared
// among its containers, and what gives the pod its limits back.
//
// Limits of pods of Jobs are lowered, and of others that allow it by annotation descheduler.koordinator.sh/resize-in-place: a job that is
// throttled ends later, and one that is moved begins anew. Requests stay, and a limit is never lowered to less than them, so that a pod keeps
// what it was scheduled with.
package cpulimit
