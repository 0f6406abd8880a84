package app

import (
	"maps"
	"slices"

	"k8s.io/kubernetes/pkg/scheduler/profile"

	"koordinator.sh/koord/scheduler/services"
)

// providers are what the plugins of all profiles, in order of the profiles' names, and the states that they share can be
// asked for.
func (s *Scheduler) providers(profiles profile.Map) []services.Provider {
	var list []services.Provider
	for _, name := range slices.Sorted(maps.Keys(profiles)) {
		for _, plugin := range s.created.of(name) {
			if provider, ok := plugin.(services.Provider); ok {
				list = append(list, provider)
			}
		}
	}
	return append(list, s.parts.Services()...)
}
