package manager

import (
	"context"
	"net/http"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"koordinator.sh/koord/outage"
)

// patientMapper asks which kinds are served, and waits for an API server that is away, until ctx ends. Its errors would end the
// process, as those of what is watched do, both while the manager is put together and while it starts; who asks later could do
// nothing either without an API server.
type patientMapper struct {
	meta.RESTMapper
	ctx context.Context
}

// newPatientMapper returns how the manager gets its mapper.
func newPatientMapper(ctx context.Context) func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
	return func(config *rest.Config, client *http.Client) (meta.RESTMapper, error) {
		inner, err := apiutil.NewDynamicRESTMapper(config, client)
		return &patientMapper{RESTMapper: inner, ctx: ctx}, err
	}
}

// RESTMapping finds the resource of a kind.
func (m *patientMapper) RESTMapping(kind schema.GroupKind, versions ...string) (mapping *meta.RESTMapping, err error) {
	err = outage.Until(m.ctx, nil, func() error {
		mapping, err = m.RESTMapper.RESTMapping(kind, versions...)
		return err
	})
	return mapping, err
}

// RESTMappings finds all resources of a kind.
func (m *patientMapper) RESTMappings(kind schema.GroupKind, versions ...string) (mappings []*meta.RESTMapping, err error) {
	err = outage.Until(m.ctx, nil, func() error {
		mappings, err = m.RESTMapper.RESTMappings(kind, versions...)
		return err
	})
	return mappings, err
}
