package realnode

import (
	"bytes"
	"fmt"
	"strconv"
	"text/template"
)

// containerdTemplate is containerd's configuration. Its strings are quoted by Go, whose quoting is TOML's for the paths that a
// sandbox has.
const containerdTemplate = `version = 3
root = {{q .Root}}
state = {{q .State}}
oom_score = 0
imports = []

[grpc]
address = {{q .Socket}}

[ttrpc]
address = {{q .TTRPCSocket}}

[metrics]
address = {{q .Metrics}}

[plugins.'io.containerd.cri.v1.images']
snapshotter = {{q .Snapshotter}}

[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = {{q .PauseImage}}

[plugins.'io.containerd.cri.v1.images'.registry]
config_path = {{q .Registries}}

[plugins.'io.containerd.cri.v1.runtime']
restrict_oom_score_adj = {{.RestrictOOMScore}}
netns_mounts_under_state_dir = true
cdi_spec_dirs = []

[plugins.'io.containerd.cri.v1.runtime'.cni]
bin_dirs = [{{q .NetworkPlugins}}]
conf_dir = {{q .Networks}}
use_internal_loopback = true

[plugins.'io.containerd.cri.v1.runtime'.containerd]
default_runtime_name = "runc"

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
runtime_path = {{q .Shim}}

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
BinaryName = {{q .Runc}}
Root = {{q .RuncRoot}}
SystemdCgroup = false

[plugins.'io.containerd.grpc.v1.cri']
stream_server_address = "127.0.0.1"
stream_server_port = "0"

[plugins.'io.containerd.nri.v1.nri']
disable = false
socket_path = {{q .NRISocket}}
plugin_path = {{q .NRIPlugins}}
plugin_config_path = {{q .NRIConfig}}

[plugins.'io.containerd.internal.v1.opt']
path = {{q .Opt}}
`

// containerdConfig is containerd's configuration for a machine. It serves metrics on a loopback port.
func (n Node) containerdConfig(m Machine, metricsPort int) ([]byte, error) {
	text, err := template.New("containerd").Funcs(template.FuncMap{"q": strconv.Quote}).Parse(containerdTemplate)
	if err != nil {
		return nil, fmt.Errorf("write containerd's configuration: %w", err)
	}
	var b bytes.Buffer
	err = text.Execute(&b, map[string]any{
		"Root": n.path("containerd"), "State": n.path("run"), "Opt": n.path("opt"),
		"Socket": n.ContainerdSocket(), "TTRPCSocket": n.ContainerdSocket() + ".ttrpc",
		"Metrics":     fmt.Sprintf("127.0.0.1:%d", metricsPort),
		"Snapshotter": m.snapshotter(), "PauseImage": PauseImage, "Registries": n.path("registries"),
		// Without the right to lower the score, a container that asks for less than containerd has could not start.
		"RestrictOOMScore": !m.MayLowerOOMScore,
		"NetworkPlugins":   n.Program("cni"), "Networks": n.path("networks"),
		"Shim": n.Program("containerd-shim-runc-v2"), "Runc": n.Runc, "RuncRoot": n.path("runc"),
		"NRISocket": n.NRISocket(), "NRIPlugins": n.path("nri-plugins"), "NRIConfig": n.path("nri-config"),
	})
	if err != nil {
		return nil, fmt.Errorf("write containerd's configuration: %w", err)
	}
	return b.Bytes(), nil
}
