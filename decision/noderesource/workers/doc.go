// Package workers says how many workers an engine should have: as many as fit in what nodes offer now and are predicted to offer, and
// which of them go first when there are too many.
package workers
