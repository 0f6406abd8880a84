package release

import (
	"errors"
	"fmt"
	"time"

	"helm.sh/helm/v4/pkg/chart/v2/util"
	"k8s.io/apimachinery/pkg/util/validation"

	"koordinator.sh/koord/api/finding"
)

// Defaults of Options.
const (
	DefaultName      = "koordinator"
	DefaultNamespace = "koordinator-system"
	DefaultTimeout   = 5 * time.Minute
)

// maxHistory bounds the revisions kept in the cluster.
const maxHistory = 10

// Options says what to install and how. The zero value is a release of default values.
type Options struct {
	// ReleaseName defaults to DefaultName.
	ReleaseName string
	// Namespace defaults to DefaultNamespace; it is created when absent.
	Namespace string
	// Values override the chart's, and those of the previous revision.
	Values map[string]any
	// ResetValues forgets the values of the previous revision.
	ResetValues bool
	// ForceConflicts takes over fields that another field manager, such as kubectl edit, has set.
	ForceConflicts bool
	// TakeOwnership adopts existing objects that belong to no release or to another one.
	TakeOwnership bool
	// DryRun changes nothing and reports what would change, judged by the API server.
	DryRun bool
	// ReadOnly makes a dry run of a removal in which nothing is sent to be judged either: it only reads what is there.
	ReadOnly bool
	// Wait until the workloads are ready, at most Timeout.
	Wait bool
	// Timeout of Wait and of each hook; defaults to DefaultTimeout.
	Timeout time.Duration
	// PendingGrace is how long an unfinished operation of another installer is respected; after it the operation is taken for
	// dead and replaced. Defaults to Timeout; negative means not at all, for callers that know to be the only installer.
	PendingGrace time.Duration
}

// withDefaults completes and validates the options.
func (o Options) withDefaults() (Options, error) {
	if o.ReleaseName == "" {
		o.ReleaseName = DefaultName
	}
	if o.Namespace == "" {
		o.Namespace = DefaultNamespace
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.PendingGrace == 0 {
		o.PendingGrace = o.Timeout
	}
	var errs []error
	if err := util.ValidateReleaseName(o.ReleaseName); err != nil {
		errs = append(errs, fmt.Errorf("release name %q: %w", o.ReleaseName, err))
	}
	for _, problem := range validation.IsDNS1123Label(o.Namespace) {
		errs = append(errs, fmt.Errorf("namespace %q: %s", o.Namespace, problem))
	}
	if o.Timeout < 0 {
		errs = append(errs, fmt.Errorf("timeout %s is negative", o.Timeout))
	}
	if err := errors.Join(errs...); err != nil {
		return o, finding.Wrap(err, finding.InvalidArgument, "")
	}
	return o, nil
}
