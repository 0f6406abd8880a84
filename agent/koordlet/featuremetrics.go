package koordlet

import (
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/diagnostics"
	"koordinator.sh/koord/agent/host/machine"
	"koordinator.sh/koord/agent/metrics"
)

// featureMetrics are what features measure and set, taken when metrics are scraped. There are at most a few for each pod.
func (e *explainer) featureMetrics() diagnostics.FeatureMetrics {
	var out diagnostics.FeatureMetrics
	state := e.enforcement.reconcilers.resctrl.State()
	for i := range state.Groups {
		group := &state.Groups[i]
		if !group.Monitored {
			continue
		}
		each := diagnostics.ResctrlGroupMetrics{Name: groupName(group), Occupancy: float64(group.Counters.Occupancy)}
		if group.Measured {
			each.Total, each.Local = &group.TotalBandwidth, &group.LocalBandwidth
		}
		out.Groups = append(out.Groups, each)
	}
	bursts, cookies := e.enforcement.results.decidedBursts(), e.enforcement.reconcilers.coresched.State()
	for _, pod := range e.cluster.Pods() {
		namespace, name := pod.Object.Namespace, pod.Object.Name
		for _, c := range bursts[pod.UID].Containers {
			out.Bursts = append(out.Bursts, diagnostics.BurstMetrics{Namespace: namespace, Pod: name, Container: c.Name, Burst: c.BurstMicros, Quota: c.Quota})
		}
		if group, grouped := cookies.Pods[string(pod.UID)]; grouped && group.Cookie {
			if cookie, given := cookies.Cookies[group.ID]; given {
				out.Cookies = append(out.Cookies, diagnostics.CookieMetrics{Namespace: namespace, Pod: name, Group: group.ID, Cookie: strconv.FormatUint(cookie, 10)})
			}
		}
	}
	for _, service := range e.enforcement.reconcilers.interference.State().Services {
		each := diagnostics.ServiceMetrics{Namespace: service.Namespace, Pod: service.Name, UID: string(service.UID), CPI: service.CPI}
		if e.options.keeps(gateInterference) {
			each.Pressure = e.measurement.pressure(service.UID)
		}
		out.Services = append(out.Services, each)
	}
	return out
}

// pressure on a pod over its latest window; nil where the kernel does not show it, or not yet.
func (m *measurement) pressure(uid types.UID) []diagnostics.PressureMetrics {
	m.mu.Lock()
	defer m.mu.Unlock()
	latest, measured := m.metrics.PodPressure(uid)
	return m.percentages(latest, measured)
}

// containerPressure is pressure for a container.
func (m *measurement) containerPressure(id string) []diagnostics.PressureMetrics {
	m.mu.Lock()
	defer m.mu.Unlock()
	latest, measured := m.metrics.ContainerPressure(id)
	return m.percentages(latest, measured)
}

// percentages of a window; nil where nothing was measured.
func (m *measurement) percentages(latest metrics.Pressure, measured bool) []diagnostics.PressureMetrics {
	if !measured {
		return nil
	}
	over := int((machine.Turns * m.options.SamplePeriod).Seconds())
	var out []diagnostics.PressureMetrics
	for _, each := range []struct {
		resource string
		stall    metrics.Stall
	}{{"cpu", latest.CPU}, {"mem", latest.Memory}, {"io", latest.IO}} {
		out = append(out, diagnostics.PressureMetrics{Resource: each.resource, Degree: "some", Percent: each.stall.Some * 100, OverSeconds: over},
			diagnostics.PressureMetrics{Resource: each.resource, Degree: "full", Percent: each.stall.Full * 100, OverSeconds: over})
	}
	return out
}
