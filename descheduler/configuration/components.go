package configuration

import (
	"time"

	apivalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/tools/leaderelection"

	"koordinator.sh/koord/api/descheduler/v1alpha2"
)

// Bounds of the interval. A pass takes up to seconds in a large cluster, and what is planned for more than a week is not.
const (
	minInterval = time.Second
	maxInterval = 7 * 24 * time.Hour
)

// validateComponents validates what is not about profiles.
func validateComponents(c *v1alpha2.DeschedulerConfiguration) field.ErrorList {
	problems := validateElection(&c.LeaderElection, field.NewPath("leaderElection"))
	connection := field.NewPath("clientConnection")
	if c.ClientConnection.QPS < 0 {
		problems = append(problems, field.Invalid(connection.Child("qps"), c.ClientConnection.QPS, "must not be negative"))
	}
	if c.ClientConnection.Burst < 0 {
		problems = append(problems, field.Invalid(connection.Child("burst"), c.ClientConnection.Burst, "must not be negative"))
	}
	path, interval := field.NewPath("deschedulingInterval"), c.DeschedulingInterval.Duration
	switch {
	case interval == 0 && *c.LeaderElection.LeaderElect:
		problems = append(problems, field.Invalid(path, interval.String(), "a single pass needs leaderElection.leaderElect: false"))
	case interval != 0 && (interval < minInterval || interval > maxInterval):
		problems = append(problems, field.Invalid(path, interval.String(), "must be 0, or from "+minInterval.String()+" to "+maxInterval.String()))
	}
	return problems
}

// validateElection holds the periods to what client-go demands of them.
func validateElection(election *v1alpha2.LeaderElectionConfiguration, path *field.Path) field.ErrorList {
	if !*election.LeaderElect {
		return nil
	}
	var problems field.ErrorList
	lease, renew, retry := election.LeaseDuration.Duration, election.RenewDeadline.Duration, election.RetryPeriod.Duration
	for name, period := range map[string]time.Duration{"leaseDuration": lease, "renewDeadline": renew, "retryPeriod": retry} {
		if period <= 0 {
			problems = append(problems, field.Invalid(path.Child(name), period.String(), "must be positive"))
		}
	}
	if lease <= renew {
		problems = append(problems, field.Invalid(path.Child("leaseDuration"), lease.String(), "must be more than renewDeadline, "+renew.String()))
	}
	if least := time.Duration(leaderelection.JitterFactor * float64(retry)); renew <= least {
		problems = append(problems, field.Invalid(path.Child("renewDeadline"), renew.String(), "must be more than 1.2 times retryPeriod, "+least.String()))
	}
	if election.ResourceLock != defaultLock {
		problems = append(problems, field.NotSupported(path.Child("resourceLock"), election.ResourceLock, []string{defaultLock}))
	}
	for _, message := range apivalidation.IsDNS1123Subdomain(election.ResourceName) {
		problems = append(problems, field.Invalid(path.Child("resourceName"), election.ResourceName, message))
	}
	for _, message := range apivalidation.IsDNS1123Label(election.ResourceNamespace) {
		problems = append(problems, field.Invalid(path.Child("resourceNamespace"), election.ResourceNamespace, message))
	}
	return problems
}
