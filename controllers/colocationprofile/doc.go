// Package colocationprofile applies ClusterColocationProfiles with the label config.koordinator.sh/controller-managed=true to
// pods that run already: their labels, annotations and mapped keys. Everything else of a profile is for new pods only.
package colocationprofile
