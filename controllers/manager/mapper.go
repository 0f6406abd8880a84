package manager

import (
	"context"
	"net/http"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"koordinator.sh/koord/outage"
)

// newPatientMapper returns how the manager gets its mapper, which waits for an API server that is away, until ctx ends.
func newPatientMapper(ctx context.Context) func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
	return func(config *rest.Config, client *http.Client) (meta.RESTMapper, error) {
		inner, err := apiutil.NewDynamicRESTMapper(config, client)
		if err != nil {
			return nil, err
		}
		return outage.NewMapper(ctx, inner), nil
	}
}
