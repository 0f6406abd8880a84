package kubectlplugin

import (
	"fmt"
	"io"
	"os"
	"strings"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/api/finding"
	decision "koordinator.sh/koord/decision/config/configuration"
	"koordinator.sh/koord/decision/scheduling/schedulerconfig"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/objects"
)

// maxConfigFile bounds a file that is read: more than a ConfigMap can hold.
const maxConfigFile = 4 * configuration.MaxConfigBytes

// configFile is a configuration in a file.
type configFile struct {
	// name of the file, - for standard input.
	name string
	// namespace of the ConfigMap; empty when the file does not say.
	namespace string
	// data of ConfigMap slo-controller-config; nil when the file has those of components alone.
	data map[string]string
	// components are the data of the ConfigMaps of the scheduler and of the descheduler, by name.
	components map[string]map[string]string
	// lines are where the texts of the keys begin in the file, from 1; 0 when a text does not stand there as it is.
	lines map[string]int
}

// readConfigFile reads a configuration from a file or from standard input with parseConfigFile or parseComponents.
func readConfigFile(s *session, name string, parse func([]byte) (*configDocument, error)) (*configFile, error) {
	in := s.Streams.In
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, finding.Wrap(fmt.Errorf("read the configuration: %w", err), finding.InvalidArgument, "-f takes a file, or - for standard input")
		}
		defer file.Close()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, maxConfigFile+1))
	if err != nil {
		return nil, fmt.Errorf("read file %q: %w", name, err)
	}
	if len(text) > maxConfigFile {
		return nil, fmt.Errorf("read file %q: it is larger than %d bytes", name, maxConfigFile)
	}
	document, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("read file %q: %w", name, err)
	}
	return &configFile{name: name, namespace: document.namespace, data: document.data, components: document.components, lines: textLines(string(text), document.data)}, nil
}

// belongsTo refuses a ConfigMap of another namespace than the one that is looked at.
func (f *configFile) belongsTo(current *source.Configuration) error {
	if f.namespace == "" || f.namespace == current.Namespace {
		return nil
	}
	err := fmt.Errorf("read file %q: its ConfigMap is in namespace %q, not in %q", f.name, f.namespace, current.Namespace)
	return finding.Wrap(err, finding.InvalidArgument, fmt.Sprintf("-n %s names the namespace that the system is in", f.namespace))
}

// textLines finds where block texts begin: the line after KEY: |, if the text that follows is that of the key.
func textLines(text string, data map[string]string) map[string]int {
	out := map[string]int{}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		key, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
		if rest = strings.TrimSpace(rest); !ok || !strings.HasPrefix(rest, "|") || i+1 >= len(lines) {
			continue
		}
		key = strings.Trim(key, `"'`)
		first, _, _ := strings.Cut(data[key], "\n")
		if _, known := data[key]; known && strings.TrimSpace(first) == strings.TrimSpace(lines[i+1]) {
			out[key] = i + 2
		}
	}
	return out
}

// judgeBy takes the scheduler's and the descheduler's configuration of the file, where it has them.
func (f *configFile) judgeBy(in *decision.Input) error {
	if data, has := f.components[configuration.SchedulerConfigMapName]; has {
		settings, err := schedulerconfig.Read(data)
		if err != nil {
			return fmt.Errorf("read file %q: configmap %s: %w", f.name, configuration.SchedulerConfigMapName, err)
		}
		in.LoadAware = settings.LoadAware
	}
	if data, has := f.components[configuration.DeschedulerConfigMapName]; has {
		read, err := objects.ReadDescheduler(data)
		if err != nil {
			return fmt.Errorf("read file %q: configmap %s: %w", f.name, configuration.DeschedulerConfigMapName, err)
		}
		in.Descheduler = read.Thresholds()
	}
	return nil
}
