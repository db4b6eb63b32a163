import com.fasterxml.jackson.databind.ObjectMapper;
import fathom.Events;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** Reads one event per line, ce_type, tab, JSON, by its type, and writes it again. */
class RoundTrip {
    public static void main(String[] arguments) throws Exception {
        var mapper = new ObjectMapper();
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (var line = in.readLine(); line != null; line = in.readLine()) {
            var parts = line.split("\t", 2);
            out.println(mapper.writeValueAsString(mapper.readValue(parts[1], Events.BY_TYPE.get(parts[0]))));
        }
    }
}
