// Package slurm lets Slurm run jobs on the batch resources of nodes, by Slurm's own programs scontrol, squeue and scancel.
//
// What Slurm may allocate of a node is MaxCPUsPerNode of a partition that has this node alone. A CPU comes with the memory of MaxMemPerCPU, with
// which Slurm gives a job more CPUs when it asks for more memory, so that the number of CPUs bounds both.
package slurm
