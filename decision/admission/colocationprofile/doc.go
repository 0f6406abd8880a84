// Package colocationprofile answers what ClusterColocationProfiles make of a pod when it is created: which profiles select
// it, which of its fields each of them changes, and how its cpu and memory become batch or mid resources. The trace names
// every profile, the requirement that kept one from applying, every field with its value before and after, and every
// amount that was moved or left.
//
// A profile is first taken apart into Steps. Decide carries them out on a pod; package policy compiles the same steps to
// CEL. What a profile means is therefore said once.
package colocationprofile
