// Package loadaware is the scheduler plugin LoadAwareScheduling: it keeps pods off nodes that are busy by measurement,
// and prefers idle ones. The decisions are those of decision/scheduling/loadaware; this package brings them their inputs.
package loadaware
