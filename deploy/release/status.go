package release

import (
	"context"

	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// Status returns the newest revision. Errors are *finding.Error with ReleaseNotFound or ReleaseForeign, or those of the connection.
func Status(ctx context.Context, clients genericclioptions.RESTClientGetter, options Options) (*Release, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	s, err := newSession(clients, options)
	if err != nil {
		return nil, explain(err, "read the release")
	}
	last, err := s.last(ctx)
	if err != nil {
		return nil, explain(err, "read the release")
	}
	if last == nil {
		return nil, releaseNotFound(options)
	}
	found := fromHelm(last)
	return &found, nil
}
