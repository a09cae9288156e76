package clusters

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// Ask reads the JSON value at a path of Web, such as /overview of Flink.
func (c *Cluster) Ask(ctx context.Context, path string, v any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Web+path, nil)
	if err != nil {
		return err
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", r.URL, a.Status)
	}
	return json.NewDecoder(a.Body).Decode(v)
}
