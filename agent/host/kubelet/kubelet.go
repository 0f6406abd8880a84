package kubelet

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/decision/core/cpuset"
)

// largest file that is read, in bytes: the state of thousands of containers.
const largest = 4 << 20

// Binding is how kubelet binds pods to CPUs.
type Binding struct {
	// Policy of the CPU manager: none or static.
	Policy string
	// Options of the policy.
	Options map[string]string
	// ReservedCPUs are kept for the system; empty when kubelet chooses them.
	ReservedCPUs cpuset.CPUSet
	// TopologyPolicy and TopologyScope of the topology manager, empty for kubelet's defaults.
	TopologyPolicy, TopologyScope string
	// Pods that own CPUs, by UID in ascending order.
	Pods []Pod
}

// Pod owns CPUs.
type Pod struct {
	UID  types.UID
	CPUs cpuset.CPUSet
}

// none is the policy of a kubelet that binds no pod.
const none = "none"

// configuration is what is read of kubelet's configuration file.
type configuration struct {
	CPUManagerPolicy        string            `json:"cpuManagerPolicy"`
	CPUManagerPolicyOptions map[string]string `json:"cpuManagerPolicyOptions"`
	ReservedSystemCPUs      string            `json:"reservedSystemCPUs"`
	TopologyManagerPolicy   string            `json:"topologyManagerPolicy"`
	TopologyManagerScope    string            `json:"topologyManagerScope"`
}

// state is kubelet's cpu_manager_state.
type state struct {
	PolicyName string                       `json:"policyName"`
	Entries    map[string]map[string]string `json:"entries"`
}

// Read reads the configuration and the state of the CPU manager. Files that do not exist say that kubelet has its defaults. An
// error names what cannot be understood, and comes with what can.
func Read(configurationFile, stateFile string) (Binding, error) {
	var config configuration
	problem := load(configurationFile, func(content []byte) error { return yaml.Unmarshal(content, &config) })
	out := Binding{
		Policy: config.CPUManagerPolicy, Options: config.CPUManagerPolicyOptions,
		TopologyPolicy: config.TopologyManagerPolicy, TopologyScope: config.TopologyManagerScope,
	}
	reserved, err := cpuset.Parse(config.ReservedSystemCPUs)
	if err != nil {
		err = fmt.Errorf("reservedSystemCPUs of %q: %w", configurationFile, err)
	} else {
		out.ReservedCPUs = reserved
	}
	var current state
	unread := load(stateFile, func(content []byte) error { return json.Unmarshal(content, &current) })
	if current.PolicyName != "" && unread == nil {
		out.Policy = current.PolicyName // a policy is configured before kubelet has it
	}
	if out.Policy == "" {
		out.Policy = none
	}
	if unread != nil {
		return out, errors.Join(problem, err, unread)
	}
	var unknown error
	out.Pods, unknown = owners(stateFile, &current)
	return out, errors.Join(problem, err, unknown)
}

// owners are the pods that own CPUs. A container whose CPUs cannot be understood owns none.
func owners(name string, current *state) ([]Pod, error) {
	var pods []Pod
	var problems []error
	for uid, containers := range current.Entries {
		pod := Pod{UID: types.UID(uid)}
		for container, list := range containers {
			cpus, err := cpuset.Parse(strings.TrimSpace(list))
			if err != nil {
				problems = append(problems, fmt.Errorf("%q, container %.64q of pod %.64q: %w", name, container, uid, err))
				continue
			}
			pod.CPUs = pod.CPUs.Union(cpus)
		}
		if !pod.CPUs.IsEmpty() {
			pods = append(pods, pod)
		}
	}
	slices.SortFunc(pods, func(a, b Pod) int { return strings.Compare(string(a.UID), string(b.UID)) })
	slices.SortFunc(problems, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return pods, errors.Join(problems...)
}

// load reads a file that may not exist.
func load(name string, decode func([]byte) error) error {
	content, err := read(name)
	if errors.Is(err, fs.ErrNotExist) || name == "" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read how kubelet binds pods: %w", err)
	}
	if err := decode(content); err != nil {
		return fmt.Errorf("read how kubelet binds pods: decode %q: %w", name, err)
	}
	return nil
}

// read a whole file that is not too large.
func read(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(file, largest+1))
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	if len(content) > largest {
		return nil, fmt.Errorf("%q is larger than %d bytes", name, largest)
	}
	return content, nil
}
