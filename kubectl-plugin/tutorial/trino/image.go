package trino

import (
	"context"
	_ "embed" // what is downloaded, how it is verified, and the class beside it

	"koordinator.sh/koord/kubectl-plugin/tutorial"
	"koordinator.sh/koord/kubectl-plugin/tutorial/java"
)

//go:embed pom.xml
var pom []byte

//go:embed checksums.txt
var checksums []byte

//go:embed java/Node.java
var node []byte

// project is Trino with the class that its servers begin with.
var project = java.Project{Name: "trino", POM: pom, Checksums: checksums, Sources: map[string][]byte{"Node.java": node}}

// Image is the name that the image of Trino is imported by. No registry has it.
const Image = "koordinator.sh/sandbox/trino:435"

// options keep a server small, and have it start sooner: it need not look into the layout of objects.
var options = []string{"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Djol.skipHotspotSAAttach=true", "-Dfile.encoding=UTF-8"}

// importImage downloads Trino, makes an image of it and imports it into the node's containerd.
func importImage(ctx context.Context, t *tutorial.Session) error {
	t.Tell("downloading Trino, unless the cache has it")
	jars, err := project.Jars(ctx)
	if err != nil {
		return err
	}
	t.Tell("building the image, unless the cache has it")
	archive, err := java.Image(ctx, jars, "Node", Image, options)
	if err != nil {
		return err
	}
	if err := t.Node.ImportImage(ctx, archive); err != nil {
		return err
	}
	t.Show("ctr --namespace k8s.io images import trino.tar", "saved "+Image)
	return nil
}
