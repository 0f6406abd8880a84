package release

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	release "helm.sh/helm/v4/pkg/release/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"koordinator.sh/koord/api/finding"
)

func foreignRelease(r *release.Release) error {
	name := "unknown"
	if r.Chart != nil && r.Chart.Metadata != nil {
		name = r.Chart.Metadata.Name
	}
	return finding.Wrap(
		fmt.Errorf("release %q in namespace %q belongs to chart %q, not %q", r.Name, r.Namespace, name, chartName),
		finding.ReleaseForeign, "choose another name with --release-name, or see `helm list -A`")
}

func releaseNotFound(o Options) error {
	return finding.Wrap(fmt.Errorf("release %q not found in namespace %q", o.ReleaseName, o.Namespace),
		finding.ReleaseNotFound, "see `helm list -A`")
}

// unanswered is true for requests that an API server did not take: no connection, no trust, no time, no right.
func unanswered(err error) bool {
	var request *url.Error
	return errors.As(err, &request) || errors.Is(err, context.Canceled) || apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)
}

// explain gives a failure its code and the next command to run. Errors that already have a code pass through, and so do connection and
// permission errors, which the caller that connected can explain better.
func explain(err error, what string) error {
	if err == nil {
		return nil
	}
	if _, ok := finding.From(err); ok {
		return err
	}
	text := err.Error()
	err = fmt.Errorf("%s: %w", what, err)
	switch {
	case unanswered(err) || strings.Contains(text, "is forbidden"):
		return err
	case strings.Contains(text, "invalid ownership metadata"):
		return finding.Wrap(err, finding.ReleaseForeign, "adopt the object with --take-ownership, or delete it first")
	case apierrors.IsConflict(err) || strings.Contains(text, "conflict with"):
		return finding.Wrap(err, finding.InstallFailed, "overwrite the fields with --force-conflicts, or revert the edit")
	case strings.Contains(text, "values don't meet the specifications of the schema"):
		return finding.Wrap(err, finding.InvalidArgument, "correct the value in the message")
	default:
		return finding.Wrap(err, finding.InstallFailed, "run with --dry-run to see the objects to be applied")
	}
}
