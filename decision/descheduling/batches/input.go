package batches

// State of a move.
type State string

// The states of a move.
const (
	Waiting   State = "Waiting"
	Running   State = "Running"
	Succeeded State = "Succeeded"
	Failed    State = "Failed"
)

// Move of one pod between nodes.
type Move struct {
	// Name is unique within the pass: the name of the job.
	Name     string
	From, To string
	State    State
}

// DefaultFailureRatio of the moves that were started; above it the pass stops.
const DefaultFailureRatio = 0.3

// Input of Decide.
type Input struct {
	// Moves of the pass, in any order.
	Moves []Move
	// FailureRatio above which the pass stops; 0 and below is DefaultFailureRatio, 1 and above never stops.
	FailureRatio float64
}
