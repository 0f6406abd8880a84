package nodefit

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestPortsOfSidecarsAreTakenToo(t *testing.T) {
	for name, test := range map[string]struct {
		policy *corev1.ContainerRestartPolicy
		want   int
	}{
		"a container that restarts":      {new(corev1.ContainerRestartPolicyAlways), 1},
		"an init container that is gone": {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Spec: corev1.PodSpec{InitContainers: []corev1.Container{
				{Name: "init", RestartPolicy: test.policy, Ports: []corev1.ContainerPort{{HostPort: 80}}},
			}}}
			if got := HostPorts(pod); len(got) != test.want {
				t.Errorf("host ports %v, want %d", got, test.want)
			}
		})
	}
}

func TestPortsConflictOnOverlappingAddresses(t *testing.T) {
	for name, test := range map[string]struct {
		a, b corev1.ContainerPort
		want bool
	}{
		"the same port without addresses":             {corev1.ContainerPort{HostPort: 80}, corev1.ContainerPort{HostPort: 80, Protocol: corev1.ProtocolTCP}, true},
		"another protocol":                            {corev1.ContainerPort{HostPort: 53}, corev1.ContainerPort{HostPort: 53, Protocol: corev1.ProtocolUDP}, false},
		"another port":                                {corev1.ContainerPort{HostPort: 80}, corev1.ContainerPort{HostPort: 81}, false},
		"one address and all of them":                 {corev1.ContainerPort{HostPort: 80, HostIP: "10.0.0.1"}, corev1.ContainerPort{HostPort: 80, HostIP: "0.0.0.0"}, true},
		"two addresses":                               {corev1.ContainerPort{HostPort: 80, HostIP: "10.0.0.1"}, corev1.ContainerPort{HostPort: 80, HostIP: "10.0.0.2"}, false},
		"an IPv6 wildcard, as kube-scheduler sees it": {corev1.ContainerPort{HostPort: 80, HostIP: "::"}, corev1.ContainerPort{HostPort: 80, HostIP: "10.0.0.1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := conflict(test.a, test.b); got != test.want {
				t.Errorf("conflict %v, want %v", got, test.want)
			}
			if got := conflict(test.b, test.a); got != test.want {
				t.Errorf("the other way around: conflict %v, want %v", got, test.want)
			}
		})
	}
}
