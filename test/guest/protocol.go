package guest

// PlanFile is where the guest finds what it is to run: a Plan in JSON.
const PlanFile = "/plan.json"

// Marker begins the lines on the console that are the guest's own. What follows is one of the words below and their arguments;
// everything else on the console is what programs and the kernel print.
const Marker = "@@guest "

// The words. Started and Ended are followed by the number of a program in the plan, Ended also by how it ended, and Broken by a
// reason: the guest cannot run anything.
const (
	Started  = "started"
	Ended    = "ended"
	Broken   = "broken"
	Finished = "finished"
)

// Passed is how a program ended whose exit status is zero.
const Passed = "passed"

// Plan is what a guest is to run.
type Plan struct {
	Programs []Program `json:"programs"`
}

// Program is a file of the guest with its arguments and its environment.
type Program struct {
	Path        string   `json:"path"`
	Arguments   []string `json:"arguments"`
	Environment []string `json:"environment"`
	// Seconds that it may take.
	Seconds int `json:"seconds"`
}
