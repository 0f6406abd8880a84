package check

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

// plainFlag is a flag that opens a port without TLS and without authentication.
type plainFlag struct {
	component, flag string
	// serves names what the port gives to everyone who reaches it.
	serves string
	// always is true for a port that is a risk on the pod network too.
	always bool
}

// plainFlags of the components, of this build and of upstream's.
var plainFlags = []plainFlag{
	{schedulerName, "port", "the scheduler's state of all nodes, pods and quotas", true},
	{schedulerName, "insecure-port", "the scheduler's state of all nodes, pods and quotas", true},
	{deschedulerName, "insecure-port", "metrics and state of the descheduler", true},
	{agentName, "addr", "metrics, pods and events of the node", true},
	{managerName, "metrics-addr", "metrics", false},
	{managerName, "metrics-bind-address", "metrics", false},
	{managerName, "pprof-addr", "profiles of the process", true},
}

// ports reads the flags of the containers. A port for probes only is not reported, nor one on loopback or metrics on the pod network.
func (c component) ports(f *Facts) Outcome {
	pods := f.podsOf(c.name)
	switch {
	case len(f.Pods.Unread) > 0:
		return unknown(f.Pods.Unread...)
	case len(pods) == 0:
		return skip("no pods in namespace %s", f.Namespace)
	}
	open := map[string][]string{}
	for i := range pods {
		for _, text := range openPorts(c.name, &pods[i]) {
			open[text] = append(open[text], pods[i].Name)
		}
	}
	var found []diagnosticsv1alpha1.Finding
	for _, text := range slices.Sorted(maps.Keys(open)) {
		found = append(found, report(finding.PortInsecure, "", "%s: %s", text, some(open[text])))
	}
	return judged(fmt.Sprintf("pods: %d", len(pods)), found)
}

// openPorts are the ports without TLS that a pod opens, each with what it serves.
func openPorts(component string, pod *corev1.Pod) []string {
	network := "the pod network"
	if pod.Spec.HostNetwork {
		network = "the network of the host"
	}
	var out []string
	for i := range pod.Spec.Containers {
		container := &pod.Spec.Containers[i]
		arguments := flagsOf(slices.Concat(container.Command, container.Args))
		for _, plain := range plainFlags {
			value, set := arguments[plain.flag]
			port, reachable := listens(value)
			if plain.component != component || !set || !reachable || !plain.always && !pod.Spec.HostNetwork && !hostPort(container, port) {
				continue
			}
			where := network
			if hostPort(container, port) {
				where = "a port of the host"
			}
			out = append(out, fmt.Sprintf("--%s=%s serves %s without TLS and authentication on %s", plain.flag, value, plain.serves, where))
		}
	}
	return out
}

// flagsOf reads --flag=value, --flag value and -flag=value; a flag without a value is empty.
func flagsOf(arguments []string) map[string]string {
	out := map[string]string{}
	for i := 0; i < len(arguments); i++ {
		name, dashed := strings.CutPrefix(arguments[i], "-")
		if !dashed {
			continue
		}
		name, value, assigned := strings.Cut(strings.TrimPrefix(name, "-"), "=")
		if !assigned && i+1 < len(arguments) && !strings.HasPrefix(arguments[i+1], "-") {
			i++
			value = arguments[i]
		}
		out[name] = value
	}
	return out
}

// listens reads a port or an address; it is not reachable when it is switched off or on loopback.
func listens(value string) (port int, reachable bool) {
	host, text, err := net.SplitHostPort(value)
	if err != nil {
		host, text = "", value
	}
	port, err = strconv.Atoi(text)
	if err != nil || port == 0 || host == "localhost" {
		return 0, false
	}
	ip := net.ParseIP(host)
	return port, ip == nil || !ip.IsLoopback()
}

func hostPort(container *corev1.Container, port int) bool {
	return slices.ContainsFunc(container.Ports, func(p corev1.ContainerPort) bool { return p.HostPort != 0 && int(p.ContainerPort) == port })
}
