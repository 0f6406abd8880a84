package nodeslo

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/controllers/nodeobject"
)

// Trim is the transformation for a cache of NodeSLOs: of the managed fields it keeps who wrote, and not what. Other objects
// stay as they are.
func Trim(object any) (any, error) {
	slo, ok := object.(*slov1alpha1.NodeSLO)
	if !ok {
		return object, nil
	}
	for i := range slo.ManagedFields {
		entry := slo.ManagedFields[i]
		slo.ManagedFields[i] = metav1.ManagedFieldsEntry{Manager: entry.Manager, Operation: entry.Operation}
	}
	return slo, nil
}

// tracked is what the managed fields are to become: the one empty entry by which the API server stops tracking them, when only this
// controller has written; otherwise nil, and they stay. With a single writer they carry no information, and tracking them is a large
// part of what a write of a NodeSLO costs the API server.
func tracked(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	for i := range entries {
		if entries[i].Manager != nodeobject.FieldManager || entries[i].Operation != metav1.ManagedFieldsOperationUpdate {
			return nil
		}
	}
	if len(entries) == 0 {
		return nil
	}
	return []metav1.ManagedFieldsEntry{{}}
}
