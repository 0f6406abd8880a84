package copilot

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/podrequest"
)

// Paths of the protocol.
const (
	PathHealth                   = "/health"
	PathInformation              = "/information"
	PathContainer                = "/v1/container"
	PathContainers               = "/v1/containers"
	PathKillContainer            = "/v1/killContainer"
	PathKillContainersByResource = "/v1/killContainersByResource"

	// ParameterContainerID is the parameter of PathContainer.
	ParameterContainerID = "containerID"
)

// Information is what an agent says of itself.
type Information struct {
	// Name of the scheduler, such as yarn.
	Name string `json:"name"`
	// Version of the protocol: v1.
	Version string `json:"version"`
}

// Container is one container of the scheduler that runs on the node.
type Container struct {
	// Name, Namespace and UID by which the scheduler knows it; the name is its ID.
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	UID       string `json:"uid"`

	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	// Priority in the bands of pods.
	Priority int32 `json:"priority"`
	// CreateTimestamp is when it was started.
	CreateTimestamp time.Time `json:"createTimestamp"`
	// CgroupDir is its cgroup, relative to a hierarchy.
	CgroupDir string `json:"cgroupDir"`
	// HostNetwork is true for processes in the network of the node.
	HostNetwork bool `json:"hostNetwork"`
	// Resources that its scheduler allocated to it: batch-cpu and batch-memory, or cpu and memory.
	Resources corev1.ResourceRequirements `json:"resources"`
}

// KillRequest asks for one container, or for as many as have some resources.
type KillRequest struct {
	ContainerID string              `json:"containerID,omitempty"`
	Resources   corev1.ResourceList `json:"resources,omitempty"`
}

// ContainerList is how a list of containers is answered.
type ContainerList struct {
	Containers []Container `json:"containers"`
}

// UnmarshalJSON takes a list alone, too.
func (l *ContainerList) UnmarshalJSON(content []byte) error {
	if len(content) > 0 && content[0] == '[' {
		return json.Unmarshal(content, &l.Containers)
	}
	type plain ContainerList
	return json.Unmarshal(content, (*plain)(l))
}

// AmountOf reads what a list of resources has of batch resources, or else of CPU and memory; never less than nothing.
func AmountOf(resources corev1.ResourceList) podrequest.Amount {
	var out podrequest.Amount
	if batch, has := resources[extension.BatchCPU]; has {
		out.MilliCPU = batch.Value()
	} else {
		cpu := resources[corev1.ResourceCPU]
		out.MilliCPU = cpu.MilliValue()
	}
	memory, has := resources[extension.BatchMemory]
	if !has {
		memory = resources[corev1.ResourceMemory]
	}
	out.Memory = max(memory.Value(), 0)
	out.MilliCPU = max(out.MilliCPU, 0)
	return out
}

// names are those that may be shown, logged and be a part of a path.
var names = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,252}$`)

// ValidName says what is wrong with the ID of a container, or the name of an agent; nil for one that may be used.
func ValidName(name string) error {
	if !names.MatchString(name) {
		return fmt.Errorf("%.64q is no name: letters, digits, dots, dashes and underscores", name)
	}
	return nil
}

// validate says what is wrong with a container.
func (c *Container) validate() error {
	err := ValidName(c.Name)
	if c.Namespace != "" {
		err = errors.Join(err, ValidName(c.Namespace))
	}
	return err
}
