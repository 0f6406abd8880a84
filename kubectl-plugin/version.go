package kubectlplugin

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// Version of the program.
type Version struct {
	// Version is a semantic version with a leading v, or devel.
	Version string `json:"version"`
	// Commit the program was built from; empty when unknown.
	Commit string `json:"gitCommit,omitempty"`
	// GoVersion it was built with.
	GoVersion string `json:"goVersion"`
	// Platform it was built for, as os/arch.
	Platform string `json:"platform"`
}

type versionAnswer struct {
	ClientVersion Version `json:"clientVersion"`
	ServerVersion string  `json:"serverVersion,omitempty"`
}

// newVersionCommand prints the version. It touches neither the network nor the kubeconfig unless asked for the server's.
func newVersionCommand(s *session) *cobra.Command {
	var format string
	client := true
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the client and server version",
		Example: fmt.Sprintf("  # Print the client version\n  %[1]s version\n\n  # Print the client and server versions\n  %[1]s version --client=false -o json", s.Name),
		GroupID: "other",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			answer := versionAnswer{ClientVersion: s.Version}
			if format != "" && format != "json" && format != "yaml" {
				return usage("output format %q: must be json or yaml", format)
			}
			var unknown error // the program's own version is printed all the same
			if !client {
				answer.ServerVersion, unknown = serverVersion(cmd.Context(), s)
			}
			if err := printVersion(s, answer, format); err != nil {
				return err
			}
			return unknown
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", "", "Output format, one of: json, yaml")
	cmd.Flags().BoolVar(&client, "client", true, "Print the client version only; false asks the cluster for its version too")
	must(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"json", "yaml"}, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

func serverVersion(ctx context.Context, s *session) (string, error) {
	src, err := s.connect()
	if err != nil {
		return "", err
	}
	cluster, err := src.Describe(ctx)
	return cluster.ServerVersion, err
}

func printVersion(s *session, answer versionAnswer, format string) error {
	var data []byte
	var err error
	switch format {
	case "json":
		data, err = json.MarshalIndent(answer, "", "  ")
		data = append(data, '\n')
	case "yaml":
		data, err = yaml.Marshal(answer)
	default:
		data = fmt.Appendf(nil, "Client Version: %s\n", answer.ClientVersion.Version)
		if answer.ServerVersion != "" {
			data = fmt.Appendf(data, "Server Version: %s\n", answer.ServerVersion)
		}
	}
	if err != nil {
		return fmt.Errorf("encode the version: %w", err)
	}
	_, err = s.Streams.Out.Write(data)
	return err
}
