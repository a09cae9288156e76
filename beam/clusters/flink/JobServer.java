import java.util.List;
import org.apache.beam.model.pipeline.v1.RunnerApi.Pipeline;
import org.apache.beam.runners.flink.FlinkJobInvoker;
import org.apache.beam.runners.flink.FlinkJobServerDriver;
import org.apache.beam.runners.flink.FlinkPipelineOptions;
import org.apache.beam.runners.flink.FlinkPipelineRunner;
import org.apache.beam.runners.jobsubmission.JobInvocation;
import org.apache.beam.runners.jobsubmission.PortablePipelineRunner;
import org.apache.beam.sdk.io.FileSystems;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.vendor.guava.v32_1_2_jre.com.google.common.util.concurrent.ListeningExecutorService;

/** Beam's job server for Flink, without the upload of all jars in its class path with each job. */
public class JobServer {
  public static void main(String[] args) {
    FileSystems.setDefaultPipelineOptions(PipelineOptionsFactory.create());
    FlinkJobServerDriver.FlinkServerConfiguration config = FlinkJobServerDriver.parseArgs(args);
    String folder = null;
    for (String arg : args) {
      if (arg.startsWith("--flink-conf-dir=")) {
        folder = arg.substring(arg.indexOf('=') + 1);
      }
    }
    String conf = folder;
    FlinkJobServerDriver.fromConfig(config, () -> new Invoker(config, conf)).run();
  }

  /** Replaces the runner, which has the list of jars. */
  static class Invoker extends FlinkJobInvoker {
    private final String conf;

    Invoker(FlinkJobServerDriver.FlinkServerConfiguration config, String conf) {
      super(config);
      this.conf = conf;
    }

    @Override
    protected JobInvocation createJobInvocation(String id, String token, ListeningExecutorService executor,
        Pipeline pipeline, FlinkPipelineOptions options, PortablePipelineRunner runner) {
      return super.createJobInvocation(id, token, executor, pipeline, options,
          new FlinkPipelineRunner(options, conf, List.of()));
    }
  }
}
