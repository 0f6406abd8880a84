package check

import (
	"slices"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/certificate"
	"koordinator.sh/koord/kubectl-plugin/install"
)

func schedulerChecks() []Check {
	scheduler := component{name: schedulerName, short: "scheduler", category: Scheduler, down: finding.SchedulerUnavailable, secret: certificate.SchedulerSecret, leads: true}
	descheduler := component{name: deschedulerName, short: "descheduler", category: Scheduler, down: finding.DeschedulerUnavailable, secret: certificate.DeschedulerSecret, leads: true}
	bridge := component{name: bridgeName, short: "bridge", category: Scheduler, down: finding.BridgeUnavailable, secret: certificate.BridgeSecret, leads: true}
	return slices.Concat(scheduler.checks(), []Check{{
		ID: "scheduler-quotas", Category: Scheduler, Needs: []string{installedID}, Title: "no ElasticQuota uses more than its max, and every pod counts",
		Codes: []finding.Code{finding.QuotaAboveMax, finding.QuotaUncounted},
		Judge: func(f *Facts) Outcome {
			return f.ofStatus(install.PartQuotas, "", finding.QuotaAboveMax, finding.QuotaUncounted)
		},
	}}, descheduler.checks(), bridge.checks())
}
