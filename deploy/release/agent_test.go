package release

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"koordinator.sh/koord/agent/koordlet"
)

// TestTheAgentGetsWhatItsFeaturesNeed and no more: its flags exist in the program, the paths in them are mounted, and of the node only
// what the enabled features write is writable.
func TestTheAgentGetsWhatItsFeaturesNeed(t *testing.T) {
	always := []string{"/host/cgroup", "/var/lib/koordlet", "/var/run/nri"}
	tests := map[string]struct {
		values map[string]any
		// wantWritable directories, beside those of every agent.
		wantWritable     []string
		wantCapabilities []any
		wantRuntimeClass string
		wantImage        string
		want             func(*koordlet.Options) bool
	}{
		"by default":        {want: func(o *koordlet.Options) bool { return !o.EvictInDanger && !o.ReadOnly && o.Hooks.Endpoint == "" }},
		"another predictor": {values: map[string]any{"predictor": "balanced"}, want: func(o *koordlet.Options) bool { return o.Predictor == "balanced" }},
		"evictions in danger": {
			values: map[string]any{"evictInDanger": true, "featureGates": gatesOn("BEMemoryEvict", "MemoryEvict")},
			want:   func(o *koordlet.Options) bool { return o.EvictInDanger && o.FeatureGates["MemoryEvict"] },
		},
		"shares of the cache": {values: map[string]any{"featureGates": gatesOn("RdtResctrl", "Resctrl", "ResctrlCollector")}},
		"core scheduling": {
			values:           map[string]any{"featureGates": gatesOn("CoreSched"), "capabilities": []any{"SYS_PTRACE"}},
			wantCapabilities: []any{"SYS_PTRACE"},
		},
		"scores for when memory runs out": {
			values:           map[string]any{"featureGates": gatesOn("OOMScoreAdj"), "capabilities": []any{"SYS_RESOURCE", "DAC_OVERRIDE"}},
			wantWritable:     []string{"/host/proc"},
			wantCapabilities: []any{"SYS_RESOURCE", "DAC_OVERRIDE"},
		},
		"parameters of the machine": {values: map[string]any{"featureGates": gatesOn("SystemConfig")}, wantWritable: []string{"/host/proc", "/host/sys"}},
		"parameters of the machine, and nothing written": {
			values: map[string]any{"featureGates": gatesOn("SystemConfig", "OOMScoreAdj"), "readOnly": true}, want: func(o *koordlet.Options) bool { return o.ReadOnly },
		},
		"a feature that is switched off": {values: map[string]any{"featureGates": map[string]any{"SystemConfig": false, "RdtResctrl": false}}},
		"queues of the network": {
			values: map[string]any{"featureGates": gatesOn("TCNetworkQoS"), "capabilities": []any{"NET_ADMIN"}}, wantCapabilities: []any{"NET_ADMIN"},
		},
		"Terway":       {values: map[string]any{"featureGates": gatesOn("TerwayQoS")}, wantWritable: []string{"/var/lib/terway/qos"}},
		"interference": {values: map[string]any{"featureGates": gatesOn("PSICollector", "CPICollector"), "capabilities": []any{"PERFMON"}}, wantCapabilities: []any{"PERFMON"}},
		"koord-runtime-proxy": {
			values: map[string]any{"runtimeProxy": true}, wantWritable: []string{"/var/run/koordlet", "/etc/runtime/hookserver.d"},
			want: func(o *koordlet.Options) bool { return path.Dir(o.Hooks.Endpoint) == "/var/run/koordlet" },
		},
		"accelerators of others": {values: map[string]any{"featureGates": gatesOn("Accelerators", "RDMADevices", "GPUEnvInject", "RDMADeviceInject")}},
		"NVIDIA GPUs": {
			values:           map[string]any{"featureGates": gatesOn("Accelerators"), "nvidia": map[string]any{"enabled": true, "runtimeClassName": "nvidia"}},
			wantRuntimeClass: "nvidia", wantImage: "koordlet-nvml",
		},
		"no kubelet, and an address": {values: map[string]any{"paths": map[string]any{"kubelet": ""}, "bindAddress": "127.0.0.1"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			values := map[string]any{}
			if test.values != nil { // nil would take all of them away
				values["koordlet"] = test.values
			}
			spec, container := agentOf(t, values)
			options := optionsOf(t, container)
			if test.want != nil && !test.want(options) {
				t.Errorf("arguments %v are not what the values say", container["args"])
			}
			writable := checkMounts(t, spec, container, options)
			slices.Sort(writable)
			want := slices.Sorted(slices.Values(append(slices.Clone(always), test.wantWritable...)))
			if diff := cmp.Diff(want, writable); diff != "" {
				t.Errorf("what it may write (-want +got):\n%s", diff)
			}
			added, _, _ := unstructured.NestedSlice(container, "securityContext", "capabilities", "add")
			if diff := cmp.Diff(test.wantCapabilities, added, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("capabilities (-want +got):\n%s", diff)
			}
			// Threads of all pods are identified by the host's numbers, and queues are of the host's devices.
			if spec["hostPID"] != true || spec["hostNetwork"] != true || container["securityContext"].(map[string]any)["privileged"] != nil {
				t.Errorf("hostPID %v, hostNetwork %v, security context %v", spec["hostPID"], spec["hostNetwork"], container["securityContext"])
			}
			if class, _ := spec["runtimeClassName"].(string); class != test.wantRuntimeClass {
				t.Errorf("runtime class %q, want %q", class, test.wantRuntimeClass)
			}
			if image := container["image"].(string); test.wantImage != "" && !strings.HasPrefix(image, test.wantImage+":") {
				t.Errorf("image %q, want %q", image, test.wantImage)
			}
		})
	}
}

func gatesOn(names ...string) map[string]any {
	gates := map[string]any{}
	for _, name := range names {
		gates[name] = true
	}
	return gates
}

// optionsOf what the agent is started with: a flag or a gate that it does not have fails the test.
func optionsOf(t *testing.T, container map[string]any) *koordlet.Options {
	t.Helper()
	options, flags := koordlet.NewOptions(), pflag.NewFlagSet("koordlet", pflag.ContinueOnError)
	options.AddFlags(flags)
	var args []string
	for _, arg := range container["args"].([]any) {
		if text := arg.(string); !strings.HasPrefix(text, "-v=") { // the log's, which every program has
			args = append(args, text)
		}
	}
	if err := flags.Parse(args); err != nil {
		t.Fatalf("the agent does not take %q: %v", args, err)
	}
	for gate := range options.FeatureGates {
		if !slices.Contains(strings.FieldsFunc(flags.Lookup("feature-gates").Usage, func(r rune) bool { return r == ' ' || r == ',' }), gate) {
			t.Errorf("the agent has no feature %q", gate)
		}
	}
	return options
}

// checkMounts: each volume is a directory of the node and mounted once, and what the agent uses lies in one. Of kubelet's directory it
// sees the copies that another container makes. It returns what may be written.
func checkMounts(t *testing.T, spec, container map[string]any, options *koordlet.Options) (writable []string) {
	t.Helper()
	volumes := map[string]bool{}
	for _, entry := range spec["volumes"].([]any) {
		directory, _, _ := unstructured.NestedString(entry.(map[string]any), "hostPath", "path")
		name := entry.(map[string]any)["name"].(string)
		if !path.IsAbs(directory) && name != "kubelet-files" {
			t.Errorf("volume %v is no directory of the node", entry)
		}
		volumes[name] = name != "kubelet"
	}
	var mounted []string
	for _, entry := range container["volumeMounts"].([]any) {
		mount := entry.(map[string]any)
		at, name := mount["mountPath"].(string), mount["name"].(string)
		if !volumes[name] {
			t.Errorf("%s is of volume %q, which is not there or mounted twice", at, name)
		}
		delete(volumes, name)
		mounted = append(mounted, at)
		if mount["readOnly"] != true {
			writable = append(writable, at)
		}
		// What is mounted on the node after the agent has started, such as resctrl, must be seen.
		if (at == options.Sys || at == options.Cgroup) && mount["mountPropagation"] != "HostToContainer" {
			t.Errorf("mounts below %s are not seen", at)
		}
	}
	for name := range volumes {
		if name == "kubelet" {
			continue
		}
		t.Errorf("volume %q is mounted nowhere", name)
	}
	used := []string{options.Proc, options.Sys, options.Cgroup, options.StateDirectory, path.Dir(options.Hooks.NRISocket)}
	if options.Hooks.Endpoint != "" {
		used = append(used, path.Dir(options.Hooks.Endpoint), options.Hooks.Directory)
	}
	if options.FeatureGates["Accelerators"] {
		used = append(used, options.AcceleratorDirectory)
	}
	if strings.HasPrefix(options.KubeletDirectory, "/host/") {
		used = append(used, options.KubeletDirectory)
	}
	for _, directory := range used {
		if !slices.Contains(mounted, directory) {
			t.Errorf("the agent uses %s, which is not among the mounts %v", directory, mounted)
		}
	}
	return writable
}
