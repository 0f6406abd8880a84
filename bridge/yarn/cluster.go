package yarn

import (
	"errors"
	"fmt"
	"math"
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
	// Client and Admin are HOST:PORT of the two services of its RPC.
	Client, Admin string
	// Web is the URL of its web server, without a path; empty where nothing says it.
	Web string
}

// Cluster is the ResourceManagers of one YARN cluster, of which one is active.
type Cluster struct {
	Name             string
	ResourceManagers []Addresses
	// MilliCPUPerVCore is what one vcore stands for, in milli-cores; 0 is one core.
	MilliCPUPerVCore int64
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
	if out.MilliCPUPerVCore, err = milliCPUPerVCore(read); err != nil {
		return Cluster{}, fmt.Errorf("cluster %q: %w", name, err)
	}
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
		web, err := webAddress(read, id)
		if err != nil {
			return Cluster{}, fmt.Errorf("cluster %q: %w", name, err)
		}
		out.ResourceManagers = append(out.ResourceManagers, Addresses{ID: id, Client: client, Admin: admin, Web: web})
	}
	return out, nil
}

// multiplier is Hadoop's property for the number of vcores in a core.
const multiplier = "yarn.nodemanager.resource.pcores-vcores-multiplier"

const (
	millisPerCore = 1000
	// mostVCoresPerCore and its inverse bound the multiplier.
	mostVCoresPerCore = 100
)

// milliCPUPerVCore is rounded up, so that all vcores of a node are never more than its cores.
func milliCPUPerVCore(read *configuration.Configuration) (int64, error) {
	text := read.GetOr(multiplier, "1")
	perCore, err := strconv.ParseFloat(text, 64)
	if err != nil || !(perCore >= 1.0/mostVCoresPerCore && perCore <= mostVCoresPerCore) { // in this form also for NaN
		return 0, fmt.Errorf("%s is %q; want a number between 0.01 and %d", multiplier, text, mostVCoresPerCore)
	}
	return int64(math.Ceil(millisPerCore / perCore)), nil
}

// webAddress is the URL of a web server, empty where nothing says it.
func webAddress(read *configuration.Configuration, id string) (string, error) {
	scheme, property, port := "http", "yarn.resourcemanager.webapp.address", "8088"
	if read.Get("yarn.http.policy") == "HTTPS_ONLY" {
		scheme, property, port = "https", "yarn.resourcemanager.webapp.https.address", "8090"
	}
	if own, host := of(read, property, id); own == "" && host == "" {
		return "", nil
	}
	at, err := address(read, property, id, port)
	return scheme + "://" + at, err
}

// of is a property, and the host of the ResourceManager, by its ID; empty where they are not set.
func of(read *configuration.Configuration, property, id string) (value, host string) {
	return read.Get(property + suffixOf(id)), read.GetOr("yarn.resourcemanager.hostname"+suffixOf(id), read.Get("yarn.resourcemanager.hostname"))
}

func suffixOf(id string) string {
	if id == "" {
		return ""
	}
	return "." + id
}

// address is a property with an address, or the host of the ResourceManager and a port.
func address(read *configuration.Configuration, property, id, port string) (string, error) {
	value, host := of(read, property, id)
	if value == "" {
		value = host
	}
	if value == "" {
		return "", fmt.Errorf("%s is not set, nor is yarn.resourcemanager.hostname%s", property+suffixOf(id), suffixOf(id))
	}
	if host, own, err := net.SplitHostPort(value); err == nil && host != "" {
		if _, err := strconv.ParseUint(own, 10, 16); err == nil {
			return value, nil
		}
	}
	if strings.ContainsAny(value, ":/ ") {
		return "", fmt.Errorf("%s is %q; want HOST or HOST:PORT", property+suffixOf(id), value)
	}
	return net.JoinHostPort(value, port), nil
}

// CheckWeb reports ResourceManagers whose web server is not known.
func CheckWeb(clusters []Cluster) error {
	var errs []error
	for _, cluster := range clusters {
		for _, manager := range cluster.ResourceManagers {
			if manager.Web == "" {
				errs = append(errs, fmt.Errorf("cluster %q: the web server of ResourceManager %q is not known: set yarn.resourcemanager.webapp.address", cluster.Name, manager.ID))
			}
		}
	}
	return errors.Join(errs...)
}

// Caller is who calls the ResourceManagers.
type Caller struct {
	// User that the calls are made as, where ResourceManagers trust what clients say.
	User string
	// Token returns what authenticates the calls of the client service, see ipc.Options; nil where there is none. YARN takes no tokens in its admin
	// service.
	Token func() (*ipc.Token, error)
}

// TokenKind is the kind of the tokens that ResourceManagers issue to clients.
const TokenKind = "RM_DELEGATION_TOKEN"
