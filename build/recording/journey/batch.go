package journey

import "time"

// batch asks where the batch resources of a node come from.
func batch() Journey {
	return Journey{
		Name: "batch-cpu", Title: "Where does batch-cpu come from?", Columns: 118, Rows: 30,
		Ready: atWork(),
		Steps: []Step{
			run("koordctl top nodes sim-0001 sim-0003 sim-0007 sim-0013", 6*time.Second, "sim-0001", "Hot", "Expired", "sim-0013 is Expired"),
			run("koordctl explain node sim-0001 batch-cpu", 7*time.Second, "safetyMargin", "Settings in force", "answered by"),
		},
	}
}
