package journey

import "time"

// config changes the configuration after looking at what that would do.
func config() Journey {
	return Journey{
		Name: "config", Title: "Change the configuration", Columns: 118, Rows: 34,
		Ready: atWork(),
		Steps: []Step{
			run("koordctl config plan colocation-config.cpuReclaimThresholdPercent=65", 6*time.Second, "Offers", "Nodes by change of offer"),
			press("koordctl config set colocation-config.cpuReclaimThresholdPercent=65\r", 3*time.Second, "[y/N]"),
			run("y", 1*time.Second, "configmap/slo-controller-config"),
			run("koordctl explain node sim-0001 batch-cpu", 5*time.Second, "safetyMargin", "65% of the capacity", "Settings in force"),
		},
	}
}
