package evictionbudget

import (
	"time"
)

// Count is how many pods were evicted within the ten seconds that begin at a time.
type Count struct {
	At    time.Time `json:"at"`
	Count int       `json:"count"`
}

// Input is what a decision is made of.
type Input struct {
	Now time.Time
	// Evicted are former evictions, in any order. Those ahead of Now were counted by another clock and count as of now.
	Evicted []Count
	// Pods are the co-located pods that run: best-effort ones, and those of priority bands mid, batch and free.
	Pods int
	// Percent of the pods, evicted ones included, that may be evicted within Window. From 100 on, and below 0, nothing is bounded.
	Percent int
}
