package check

import (
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/certificate"
)

func managerChecks() []Check {
	manager := component{name: managerName, short: "manager", category: Manager, down: finding.ManagerUnavailable, secret: certificate.ManagerSecret, leads: true}
	return manager.checks()
}
