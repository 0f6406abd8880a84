// Package noderesourcesfitplus scores nodes with a strategy of its own for every resource: GPUs packed, CPUs spread.
package noderesourcesfitplus
