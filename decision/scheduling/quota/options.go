package quota

// Options of the computation, the same for all trees of a cluster.
type Options struct {
	// ScaleMin cuts the largest mins of siblings where they add up to more than there is.
	ScaleMin bool
	// GuaranteeUsage raises what a quota is guaranteed from min to what it uses.
	GuaranteeUsage bool
	// DefaultMax and SystemMax bound the default and the system quota where no object of that name does.
	DefaultMax, SystemMax Amounts
}

// Rules of admission. They may differ between the profiles of a scheduler.
type Rules struct {
	// Runtime compares what is used with the runtime; otherwise with max.
	Runtime bool
	// Parents also compares every quota above but the root.
	Parents bool
}
