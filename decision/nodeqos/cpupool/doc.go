// Package cpupool decides on which CPUs the containers of a pod run: on those that the scheduler allocated, on the pools that
// services share, on those kept for SYSTEM pods, or on what the group of best-effort pods is left with by suppression.
package cpupool
