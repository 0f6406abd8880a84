package reason

// Costs on the scale of Change that several plugins propose.
const (
	// CostRelax is that of a wish of the pod that it gives up, such as an annotation or a label.
	CostRelax = 1.0
	// CostEvict is that of one pod that is evicted.
	CostEvict = 100.0

	costReduce    = 3.0
	costReduceAll = 8.0 // more, to nothing
)

// CostOfReduction is the cost of asking for less of a resource, whichever it is: given is the part that is given up, 0 to 1.
// A request of which an eighth would be left costs as much as an edit of a shared object.
func CostOfReduction(given float64) float64 {
	return costReduce + costReduceAll*max(0, min(given, 1))
}
