package yarn

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"koordinator.sh/koord/bridge/hadoop/configuration"
	"koordinator.sh/koord/bridge/hadoop/ipc"
)

// DefaultCluster is the name of the cluster whose configuration has no name of its own.
const DefaultCluster = "__default_yarn_cluster__"

// clusterFile ends the names of the files that configure other clusters, CLUSTER.yarn-site.xml.
const clusterFile = ".yarn-site.xml"

// Addresses are where one ResourceManager is reached.
type Addresses struct {
	// ID of a ResourceManager among several, such as rm1; empty where there is one.
	ID string
	// Client and Admin are HOST:PORT of the two services.
	Client, Admin string
}

// Cluster is the ResourceManagers of one YARN cluster, of which one is active.
type Cluster struct {
	Name             string
	ResourceManagers []Addresses
}

// LoadClusters reads the clusters of a configuration directory: the one of yarn-site.xml, and one for each CLUSTER.yarn-site.xml.
func LoadClusters(directory string) ([]Cluster, error) {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return nil, fmt.Errorf("read the Hadoop configuration: %w", err)
	}
	var clusters []Cluster
	var errs []error
	for _, entry := range entries {
		name, files := DefaultCluster, []string{"core-site.xml", "yarn-site.xml"}
		if entry.Name() != "yarn-site.xml" {
			var other bool
			if name, other = strings.CutSuffix(entry.Name(), clusterFile); !other || name == "" {
				continue
			}
			files = []string{"core-site.xml", entry.Name()}
		}
		cluster, err := loadCluster(name, directory, files)
		clusters, errs = append(clusters, cluster), append(errs, err)
	}
	if len(clusters) == 0 {
		errs = append(errs, fmt.Errorf("read the Hadoop configuration: there is no yarn-site.xml in %q", directory))
	}
	return clusters, errors.Join(errs...)
}

func loadCluster(name, directory string, files []string) (Cluster, error) {
	read, err := configuration.Load(directory, files...)
	if err != nil {
		return Cluster{}, err
	}
	out := Cluster{Name: name}
	ids := []string{""}
	if read.Bool("yarn.resourcemanager.ha.enabled") {
		if ids = read.List("yarn.resourcemanager.ha.rm-ids"); len(ids) == 0 {
			return Cluster{}, fmt.Errorf("cluster %q: yarn.resourcemanager.ha.enabled needs yarn.resourcemanager.ha.rm-ids", name)
		}
	}
	for _, id := range ids {
		client, err := address(read, "yarn.resourcemanager.address", id, "8032")
		if err != nil {
			return Cluster{}, fmt.Errorf("cluster %q: %w", name, err)
		}
		admin, err := address(read, "yarn.resourcemanager.admin.address", id, "8033")
		if err != nil {
			return Cluster{}, fmt.Errorf("cluster %q: %w", name, err)
		}
		out.ResourceManagers = append(out.ResourceManagers, Addresses{ID: id, Client: client, Admin: admin})
	}
	return out, nil
}

// address is a property with an address, or the host of the ResourceManager and a port.
func address(read *configuration.Configuration, property, id, port string) (string, error) {
	suffix := ""
	if id != "" {
		suffix = "." + id
	}
	value := read.Get(property + suffix)
	if value == "" {
		value = read.GetOr("yarn.resourcemanager.hostname"+suffix, read.Get("yarn.resourcemanager.hostname"))
	}
	if value == "" {
		return "", fmt.Errorf("%s is not set, nor is yarn.resourcemanager.hostname%s", property+suffix, suffix)
	}
	if host, own, err := net.SplitHostPort(value); err == nil && host != "" {
		if _, err := strconv.ParseUint(own, 10, 16); err == nil {
			return value, nil
		}
	}
	if strings.ContainsAny(value, ":/ ") {
		return "", fmt.Errorf("%s is %q; want HOST or HOST:PORT", property+suffix, value)
	}
	return net.JoinHostPort(value, port), nil
}

// Caller is who calls the ResourceManagers.
type Caller struct {
	// User that the calls are made as, where ResourceManagers trust what clients say.
	User string
	// Token authenticates the calls of the client service; nil where there is none. YARN takes no tokens in its admin service.
	Token *ipc.Token
}

// TokenKind is the kind of the tokens that ResourceManagers issue to clients.
const TokenKind = "RM_DELEGATION_TOKEN"
