package app

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/configuration"
	descheduler "koordinator.sh/koord/api/descheduler/v1alpha2"
)

// Defaults of the configuration.
const (
	defaultQPS           = 50
	defaultBurst         = 100
	defaultLease         = "koord-descheduler"
	defaultLeaseDuration = 15 * time.Second
	defaultRenewDeadline = 10 * time.Second
	defaultRetryPeriod   = 2 * time.Second
)

// settings are what flags and configuration say about the process itself. They are read once, at startup.
type settings struct {
	kubeconfig string
	qps        float32
	burst      int
	// elect is false for a process that works without a lease.
	elect                                     bool
	leaseNamespace, leaseName                 string
	leaseDuration, renewDeadline, retryPeriod time.Duration
	profiling                                 bool
}

// settingsOf completes the configuration with the flags and the defaults. A flag wins over the configuration.
func settingsOf(options *Options, config *descheduler.DeschedulerConfiguration) settings {
	connection, election := config.ClientConnection, config.LeaderElection
	return settings{
		kubeconfig:     either(options.Kubeconfig, connection.Kubeconfig),
		qps:            either(connection.QPS, defaultQPS),
		burst:          either(int(connection.Burst), defaultBurst),
		elect:          options.LeaderElect && !isFalse(election.LeaderElect),
		leaseNamespace: either(election.ResourceNamespace, configuration.DefaultNamespace),
		leaseName:      either(election.ResourceName, defaultLease),
		leaseDuration:  either(election.LeaseDuration, metav1.Duration{Duration: defaultLeaseDuration}).Duration,
		renewDeadline:  either(election.RenewDeadline, metav1.Duration{Duration: defaultRenewDeadline}).Duration,
		retryPeriod:    either(election.RetryPeriod, metav1.Duration{Duration: defaultRetryPeriod}).Duration,
		profiling:      !isFalse(config.EnableProfiling),
	}
}

// either returns value, or the other one where value is the zero value.
func either[T comparable](value, other T) T {
	var zero T
	if value == zero {
		return other
	}
	return value
}

func isFalse(value *bool) bool { return value != nil && !*value }
