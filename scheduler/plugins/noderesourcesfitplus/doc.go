// Package noderesourcesfitplus scores nodes with a separate strategy for each resource: GPUs packed, CPUs spread.
package noderesourcesfitplus
