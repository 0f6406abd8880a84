package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is scheduling.koordinator.sh/v1alpha1.
var GroupVersion = schema.GroupVersion{Group: "scheduling.koordinator.sh", Version: "v1alpha1"}

// SchemeBuilder collects the functions that add this group to a scheme.
var SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

// AddToScheme adds the kinds of this group to a scheme.
var AddToScheme = SchemeBuilder.AddToScheme

// Resource qualifies a resource name with this group.
func Resource(resource string) schema.GroupResource {
	return GroupVersion.WithResource(resource).GroupResource()
}

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&Reservation{}, &ReservationList{},
		&Device{}, &DeviceList{},
		&PodMigrationJob{}, &PodMigrationJobList{},
		&ScheduleExplanation{}, &ScheduleExplanationList{},
		&ClusterNetworkTopology{}, &ClusterNetworkTopologyList{},
		&ElasticWorkers{}, &ElasticWorkersList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
