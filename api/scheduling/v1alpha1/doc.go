// Package v1alpha1 holds the scheduling.koordinator.sh/v1alpha1 kinds: Reservation, Device, PodMigrationJob,
// ScheduleExplanation and ClusterNetworkTopology.
//
// The JSON is Koordinator's. Empty structs are left out on encoding where upstream's encoder writes {} or null.
//
// +kubebuilder:object:generate=true
// +groupName=scheduling.koordinator.sh
package v1alpha1
