package release

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	release "helm.sh/helm/v4/pkg/release/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// renderedFor is the Kubernetes version that templates see when no cluster is asked.
const renderedFor = "v1.36.0"

// Render returns everything Install would apply to an empty cluster, as one YAML stream in the order of application:
// resource definitions, namespace, release. It needs no cluster, and therefore knows of no edits made in one.
func Render(ctx context.Context, options Options) (string, error) {
	options, err := options.withDefaults()
	if err != nil {
		return "", err
	}
	rendered, err := render(ctx, options)
	return rendered, explain(err, "render the chart")
}

// Objects are those of a stream that Render returns, or of the manifest of a Release.
func Objects(manifests string) ([]*unstructured.Unstructured, error) {
	return decodeManifest([]byte(manifests))
}

func render(ctx context.Context, options Options) (string, error) {
	definitions, err := Definitions()
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, definition := range definitions {
		if err := appendDocument(&out, definition.Object); err != nil {
			return "", err
		}
	}
	err = appendDocument(&out, map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": options.Namespace},
	})
	if err != nil {
		return "", err
	}
	manifest, err := renderRelease(ctx, options)
	if err != nil {
		return "", err
	}
	out.WriteString(manifest)
	return out.String(), nil
}

// renderRelease renders the chart without its definitions.
func renderRelease(ctx context.Context, options Options) (string, error) {
	loaded, err := loadChart()
	if err != nil {
		return "", err
	}
	version, err := common.ParseKubeVersion(renderedFor)
	if err != nil {
		return "", fmt.Errorf("parse Kubernetes version %q: %w", renderedFor, err)
	}
	install := action.NewInstall(action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler)))
	install.ReleaseName = options.ReleaseName
	install.Namespace = options.Namespace
	install.DryRunStrategy = action.DryRunClient
	install.KubeVersion = version
	outcome, err := install.RunWithContext(ctx, loaded, options.Values)
	if err != nil {
		return "", err
	}
	typed, ok := outcome.(*release.Release)
	if !ok {
		return "", fmt.Errorf("unknown release format %T", outcome)
	}
	return typed.Manifest, nil
}

func appendDocument(out *strings.Builder, object map[string]any) error {
	document, err := yaml.Marshal(object)
	if err != nil {
		return fmt.Errorf("encode the manifest: %w", err)
	}
	out.WriteString("---\n")
	out.Write(document)
	return nil
}
