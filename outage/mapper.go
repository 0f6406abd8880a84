package outage

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// patientMapper waits for an API server that is away, until ctx ends.
type patientMapper struct {
	meta.RESTMapper
	ctx context.Context
}

// NewMapper returns a mapper that asks inner which kinds are served, and waits for an API server that is away, until ctx ends. The errors
// of inner would end a controller manager, both while it is put together and while it starts; who asks later could do nothing either
// without an API server.
func NewMapper(ctx context.Context, inner meta.RESTMapper) meta.RESTMapper {
	return &patientMapper{RESTMapper: inner, ctx: ctx}
}

// RESTMapping finds the resource of a kind.
func (m *patientMapper) RESTMapping(kind schema.GroupKind, versions ...string) (mapping *meta.RESTMapping, err error) {
	err = Until(m.ctx, nil, func() error {
		mapping, err = m.RESTMapper.RESTMapping(kind, versions...)
		return err
	})
	return mapping, err
}

// RESTMappings finds all resources of a kind.
func (m *patientMapper) RESTMappings(kind schema.GroupKind, versions ...string) (mappings []*meta.RESTMapping, err error) {
	err = Until(m.ctx, nil, func() error {
		mappings, err = m.RESTMapper.RESTMappings(kind, versions...)
		return err
	})
	return mappings, err
}
