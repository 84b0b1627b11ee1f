import java.io.File;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;

/** An agent that breaks the class Steps when it is changed, as long as the file is there that its option names. */
public class Refuses implements ClassFileTransformer {
  static File file;

  public static void premain(String option, Instrumentation instrumentation) {
    file = new File(option);
    instrumentation.addTransformer(new Refuses(), true);
  }

  @Override
  public byte[] transform(
      ClassLoader loader, String name, Class<?> before, ProtectionDomain domain, byte[] code) {
    return "Steps".equals(name) && before != null && file.exists() ? new byte[] {1} : null;
  }
}
